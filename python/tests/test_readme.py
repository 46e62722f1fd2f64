"""What the README shows of Python, as a stranger with numpy alone runs it."""

import re
import subprocess
import sys

from conftest import ROOT

# Blocked, though the tests need some of them: the README says to install nothing else.
OTHERS = ["pandas", "polars", "pyarrow", "geopandas", "matplotlib", "sklearn", "scipy"]


def test_lines_of_the_readme_run_with_numpy_alone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    last, shown = re.search(r"^(years\..*\S)\s+# (.*)$", lines, re.MULTILINE).groups()
    code = (f"import sys\nsys.modules.update(dict.fromkeys({OTHERS}))\n{lines}\n"
            f"print(*{last}, sep=', ')\nprint(round(years.mean[20:30].sum()))")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The names that are shown, and the people of the band from 20 to 30, which the years meet.
    assert told.stdout.splitlines() == [shown, "260"]
