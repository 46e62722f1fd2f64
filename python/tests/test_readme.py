"""What the README shows of Python, as a stranger with numpy alone runs it."""

import re
import subprocess
import sys

from conftest import ROOT

# Blocked, though the tests need some of them: the README says to install nothing else.
OTHERS = ["pandas", "polars", "pyarrow", "geopandas", "matplotlib", "sklearn", "scipy"]


def run(code):
    """The lines that code prints where numpy alone is installed."""
    code = f"import sys\nsys.modules.update(dict.fromkeys({OTHERS}))\n{code}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=ROOT)
    return told.stdout.splitlines()


def shown(lines, pattern):
    """What stands behind statements, and the comment beside each."""
    return re.findall(rf"^({pattern}.*\S)\s+# (.*)$", lines, re.MULTILINE)


def test_lines_of_the_readme_run_with_numpy_alone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 6
    for lines in blocks:
        if told := [words for _, words in shown(lines, r"print\(")]:
            assert run(lines) == told
            continue
        (last, told), = shown(lines, r"years\.to_dict")
        # The names that are shown, and the people of the band from 20 to 30, which the years meet.
        found = run(f"{lines}\nprint(*{last}, sep=', ')\nprint(round(years.mean[20:30].sum()))")
        assert found == [told, "260"]
