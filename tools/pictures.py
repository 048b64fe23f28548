"""Make the screenshots of docs/images again, from reports that are made anew.

    python -m tools.pictures

It runs the commands below in a temporary folder, which takes a few minutes, and needs chromium on the PATH.
The house is drawn by `tools.house`, and prediction-and-reality.svg by examples/prediction_and_reality.py.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = Path("docs/images")
WIDTH = 1100
LARGEST = 200_000  # bytes of a picture
COMMANDS = (
    "audit flipped.csv --target diagnosis --out flipped",
    "compare resnet-cube --methods 3resnet-all,relu3-bias-all,gaussian,ridge --out cube",
    "memorise digits --out memorised",
    "theory separation --d1 10 --k 3 --sizes 20,40,60,80,100 --members 2 --epochs 400 --out separation",
)
PICTURES = {  # file: the report that it shows, and how many pixels of it from the top
    "report.png": ("flipped", 1250),
    "compare.png": ("cube", 1150),
    "memorise.png": ("memorised", 1000),
    "separation.png": ("separation", 1250),
}


def photograph(page: Path, picture: Path, height: int) -> None:
    """Write what a browser shows of the top of a page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Pictures need chromium on the PATH: install it.")
    subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=5000",
            f"--window-size={WIDTH},{height}",
            f"--screenshot={picture}",
            page.resolve().as_uri(),
        ],
        check=True,
        capture_output=True,
    )


def main() -> int:
    """Run the commands, take the pictures; returns the exit code."""
    too_large = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [sys.executable, ROOT / "examples/flipped_labels.py", "write", "flipped.csv"],
            cwd=folder,
            check=True,
        )
        for command in COMMANDS:
            print("widenet", command, flush=True)
            subprocess.run(
                [sys.executable, "-m", "widenet", *command.split(), "--quiet"],
                cwd=folder,
                check=True,
                capture_output=True,
            )
        for picture, (report, height) in PICTURES.items():
            path = ROOT / IMAGES / picture
            photograph(folder / report / "report.html", path, height)
            size = path.stat().st_size
            print(f"{IMAGES / picture}: {size:,} bytes", flush=True)
            too_large += [picture] if size > LARGEST else []
    if too_large:
        print(f"Larger than {LARGEST:,} bytes: {', '.join(too_large)}. Show less of these reports.")
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
