//! Long work: on threads of our own, without the lock of the interpreter, while signals are looked
//! after ten times a second.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use quadrat::progress::{Event, Keeper, Progress};
use rayon::ThreadPool;

use crate::errors::{Outcome, exception};

/// Time between two looks at signals.
const EVERY: Duration = Duration::from_millis(100);

/// How often, and how long after each other, it is tried whether another thread has let go: threads
/// are started within milliseconds.
const TRIES: usize = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Threads, and the process whose they are: a child after a fork has none of its parent's.
type Known = Option<(u32, Arc<ThreadPool>)>;
type Threads = Mutex<Known>;

/// The threads of this process.
static POOL: Threads = Mutex::new(None);
/// Those of shards: all of the others may wait for what shards of the same process answer.
static SHARDS: Threads = Mutex::new(None);

/// What unwinds a fit that was given up.
struct GivenUp;

/// What Python asks of work that runs, and hears of it.
#[derive(Default)]
pub struct Control {
    /// Asked to stop.
    is_stopped: AtomicBool,
    /// Whether the search has an answer, and stops between two evaluations with the best so far.
    is_gentle: AtomicBool,
    latest: Mutex<Option<Event>>,
}

impl Control {
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }

    /// Whether the work was asked to stop.
    pub fn was_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    fn can_stop_gently(&self) -> bool {
        self.is_gentle.load(Ordering::SeqCst)
    }

    fn take(&self) -> Option<Event> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.take()
    }
}

impl Progress for Control {
    fn report(&self, event: Event) {
        if self.was_stopped() && !self.can_stop_gently() {
            // Nobody waits for the answer any more.
            resume_unwind(Box::new(GivenUp));
        }
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
    }
}

impl Keeper for Control {
    fn begun(&self) -> Option<Vec<u8>> {
        self.is_gentle.store(true, Ordering::SeqCst);
        None
    }

    fn keep(&self, _state: &dyn Fn() -> Vec<u8>) {
        self.is_gentle.store(true, Ordering::SeqCst);
    }

    fn can_stop(&self) {
        self.is_gentle.store(true, Ordering::SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.was_stopped()
    }
}

/// Sets how many threads work is done on, from the next on; `None`: one for each processor.
#[pyfunction]
#[pyo3(signature = (threads=None))]
pub fn set_threads(py: Python<'_>, threads: Option<i64>) -> PyResult<()> {
    let number = usize::try_from(threads.unwrap_or(0));
    let number = number
        .ok()
        .filter(|number| threads.is_none() || *number > 0);
    let Some(number) = number else {
        let given = threads.unwrap_or_default();
        let message = format!("threads is {given}; it must be 1 or more");
        return Err(exception(py, "DataError", &message));
    };
    let made = pool_of(number).map_err(|e| exception(py, "FitError", &e))?;
    let own = (std::process::id(), Arc::new(made));
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
    Ok(())
}

fn pool_of(threads: usize) -> Result<ThreadPool, String> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder
        .thread_name(|i| format!("quadrat-{i}"))
        .build()
        .map_err(|error| format!("cannot start threads: {error}"))
}

/// The threads of this process, started when they are first needed.
fn pool(of: &Threads) -> Result<Arc<ThreadPool>, String> {
    let Some(mut known) = held(of) else {
        return pool_of(0).map(Arc::new);
    };
    let process = std::process::id();
    if let Some((own, pool)) = known.as_ref()
        && *own == process
    {
        return Ok(Arc::clone(pool));
    }
    let made = Arc::new(pool_of(0)?);
    if let Some((_, parents)) = known.replace((process, Arc::clone(&made))) {
        // Its threads are the parent's: nobody here could wait for their end.
        std::mem::forget(parents);
    }
    Ok(made)
}

/// The threads that are known, once another thread of Python has looked or started them; `None`
/// after a fork that caught one here, who is not there to let go.
fn held(of: &Threads) -> Option<MutexGuard<'_, Known>> {
    for _ in 0..TRIES {
        match of.try_lock() {
            Ok(known) => return Some(known),
            // What it holds is whole at any time.
            Err(TryLockError::Poisoned(known)) => return Some(known.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
    None
}

/// Does work that nobody watches.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> PyResult<T> {
    tracked(py, None, |_| work())
}

/// Does work that tells how far it is.
///
/// # Errors
/// As of [`watched`], and what `progress` raises.
pub fn tracked<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Outcome<T> + Send + 'static,
) -> PyResult<T> {
    let control = Arc::new(Control::default());
    let own = Arc::clone(&control);
    watched(py, &control, progress, move || work(&own))
}

/// Does the work of a shard, which a fit may wait for on all threads of this process. Where it is
/// one of these that asks, it does the work itself.
pub fn of_shard<T: Send>(py: Python<'_>, work: impl FnOnce() -> Outcome<T> + Send) -> PyResult<T> {
    if rayon::current_thread_index().is_some() {
        return py.detach(work).map_err(|failure| failure.raise(py));
    }
    let pool = pool(&SHARDS).map_err(|e| exception(py, "FitError", &e))?;
    let done = py.detach(|| pool.install(work));
    done.map_err(|failure| failure.raise(py))
}

/// Does work, and looks after signals and progress meanwhile.
///
/// On Ctrl-C a search that can stops after its step, and what it found is the answer
/// ([`Control::was_stopped`]); other work is given up, and a second Ctrl-C gives up any.
///
/// # Errors
/// What the work or a signal's handler raises; a panic as `InternalError`.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    control: &Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> PyResult<T> {
    if rayon::current_thread_index().is_some() {
        // A fit asks from one of these threads, all of which may wait for the answer.
        return match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
            Ok(outcome) => outcome.map_err(|failure| failure.raise(py)),
            Err(panic) => Err(panicked(py, panic.as_ref())),
        };
    }
    let (sender, receiver) = sync_channel(1);
    let pool = pool(&POOL).map_err(|e| exception(py, "FitError", &e))?;
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        // Nobody may wait for it.
        drop(sender.send(done));
    });
    let receiver = Mutex::new(receiver);
    loop {
        match py.detach(|| wait(&receiver)) {
            Ok(Ok(outcome)) => return outcome.map_err(|failure| failure.raise(py)),
            Ok(Err(panic)) => return Err(panicked(py, panic.as_ref())),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(exception(
                    py,
                    "InternalError",
                    "a thread ended without an answer",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = look_after(py, control, progress) {
            control.stop();
            return Err(signal);
        }
    }
}

fn wait<T>(receiver: &Mutex<Receiver<T>>) -> Result<T, RecvTimeoutError> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv_timeout(EVERY)
}

/// Runs handlers of signals and tells of progress.
fn look_after(
    py: Python<'_>,
    control: &Control,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    if let Err(signal) = py.check_signals() {
        let is_first = !control.was_stopped();
        let is_interrupt = signal.is_instance_of::<PyKeyboardInterrupt>(py);
        if !(is_first && is_interrupt && control.can_stop_gently()) {
            return Err(signal);
        }
        control.stop();
    }
    if let (Some(callback), Some(event)) = (progress, control.take()) {
        callback.call1(told(event))?;
    }
    Ok(())
}

/// The stage, what is done, of how many if that is known, and the best objective so far.
fn told(event: Event) -> (&'static str, usize, Option<usize>, Option<f64>) {
    match event {
        Event::Start { done, total, best } => ("optimising", done, Some(total), Some(best)),
        Event::Node { done, total } => ("integrating", done, Some(total), None),
        Event::Step {
            done, best, left, ..
        } => {
            let total = left.map(|left| done + left.ceil() as usize);
            ("stepping", done, total, Some(best))
        }
        Event::Choice { done, total } => ("choosing", done, Some(total), None),
        Event::Draw { done, total } => ("sampling", done, Some(total), None),
        _ => ("working", 0, None, None),
    }
}

fn panicked(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "the cause is not known".to_owned());
    exception(
        py,
        "InternalError",
        &format!("this is a bug of quadrat: {text}"),
    )
}
