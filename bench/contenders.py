"""The contenders: what each needs to be installed, and how it is called."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).with_name("peers")
READER = "orjson==3.13.0"
SLOW_DOCUMENTS = 4000


@dataclass(frozen=True)
class Contender:
    name: str
    requirements: tuple
    settings: str
    # Slow ones get the first documents only, and onefold is run on the same ones for them.
    slow: bool = False
    # text-dedup wants Python 3.12, the others have wheels for 3.11: each group has a virtualenv.
    newer_python: bool = False

    @property
    def script(self):
        return PEERS / f"p_{self.name}.py"


CONTENDERS = (
    Contender("gaoya", ("gaoya==0.2.2",), "16 × 8, insert + query"),
    Contender("rensa", ("rensa==0.5.0",), "128 values, 16 bands, estimate ≥ 0.8, Python shingling"),
    Contender("datasketch", ("datasketch==2.0.0",), "128 values, LSH 0.8, estimate ≥ 0.8"),
    Contender("textdedup", ("text-dedup==0.4.1",), "128 values, 0.8, clusters unchecked", newer_python=True),
    Contender("simhash", ("simhash==2.1.2",), "64 bits, k = 3", slow=True),
    Contender("datatrove", ("datatrove[processing]==0.10.1", "spacy==3.8.18"), "16 × 8, clusters unchecked", slow=True),
    Contender("spark", ("pyspark==3.5.9", "numpy==2.4.6"), "MinHashLSH, 16 tables, exact distance", slow=True),
)
BY_NAME = {contender.name: contender for contender in CONTENDERS}
CHECK_REQUIREMENTS = ("regex==2026.11.9", "uniseg==0.10.1")


class Installer:
    """Installs packages by name into virtualenvs outside the repository, once."""

    def __init__(self, cache, python, newer_python):
        self._pythons = {False: (cache / "venv", python), True: (cache / "venv-newer", newer_python)}

    def python_with(self, requirements, newer_python=False):
        """The interpreter of a virtualenv that holds the packages. Raises CalledProcessError or OSError."""
        folder, base = self._pythons[newer_python]
        interpreter = folder / "bin" / "python"
        if not interpreter.exists():
            quietly([base, "-m", "venv", folder])
        marker = folder / "installed.txt"
        known = set(marker.read_text().splitlines()) if marker.exists() else set()
        wanted = [name for name in (READER, *requirements) if name not in known]
        if wanted:
            quietly([interpreter, "-m", "pip", "install", "--quiet", *wanted])
            marker.write_text("".join(f"{name}\n" for name in sorted(known | set(wanted))))
        return interpreter

    def of(self, contender):
        return self.python_with(contender.requirements, contender.newer_python)


def quietly(command):
    subprocess.run(command, check=True, capture_output=True, text=True)
