#!/usr/bin/env python3
"""Build a bench collection from Debian documentation packages, by package name.

    corpus.py --out corpus-200m.jsonl --size 200MB

Each HTML page becomes one line {"id", "url", "source", "text"}: id = package/path, source = package.
The same package versions give the same bytes. `OUT.meta.json` records versions, counts and the digest.

Order of the lines: by a hash of the page's name without its version, then by id. So a smaller collection is
a prefix of a larger one, every prefix mixes all packages, and the versions of one page are drawn together
(drawing pages one by one at rate q would keep only q² of the near-duplicate pairs).
"""

import argparse
import gzip
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DEFAULT_CACHE = Path.home() / ".cache" / "onefold-bench"
PACKAGE_LIST = Path(__file__).with_name("packages.txt")
PAGE_ENDINGS = (".html", ".htm", ".html.gz", ".htm.gz")
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


# --- packages -----------------------------------------------------------------------------------------------


def listed_packages(path):
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line]


def candidate_versions(packages):
    """Package → version that apt would install. Names that the package lists do not know are left out."""
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", *packages], capture_output=True, text=True
    ).stdout
    return dict(re.findall(r"^Package: (\S+)\n(?:.+\n)*?Version: (\S+)$", shown, re.M))


def unpacked(package, version, cache):
    """The folder with the package's pages; downloads and unpacks on the first use."""
    folder = cache / "pages" / f"{package}_{version}"
    if folder.exists():
        return folder
    archive = downloaded(package, version, cache / "packages")
    # Unpack beside and rename, so that an interrupted run leaves no half-filled folder behind.
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", archive, partial], check=True)
    drop_all_but_pages(partial)
    partial.rename(folder)
    return folder


def downloaded(package, version, folder):
    folder.mkdir(parents=True, exist_ok=True)
    # apt writes the epoch's colon as %3a in file names.
    pattern = f"{package}_{version.replace(':', '%3a')}_*.deb"
    if not list(folder.glob(pattern)):
        subprocess.run(
            ["apt-get", "-qq", "download", f"{package}={version}"], cwd=folder, check=True,
            stderr=subprocess.DEVNULL,  # "unsandboxed as root" on every call
        )
    return next(folder.glob(pattern))


def drop_all_but_pages(folder):
    """Pictures and search indexes are most of the bytes and never read."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            # A link is another name of a page that is listed already.
            if os.path.islink(path) or not name.endswith(PAGE_ENDINGS):
                os.unlink(path)


# --- pages --------------------------------------------------------------------------------------------------


def pages_of(package, folder):
    """(draw key, id, path) of every page of a package."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            inner = os.path.relpath(path, folder)
            yield draw_key(package, inner), f"{package}/{inner}", path


def draw_key(package, inner):
    """Equal for the versions of one page: directories without package name and digits, file name as it is.

    usr/share/doc/llvm-15-doc/html/Passes.html and usr/share/doc/llvm-16-doc/html/Passes.html agree, so do the
    installation guides of two architectures. Digits of file names stay, or all of Doxygen's a00123.html would
    be one page.
    """
    directory, name = os.path.split(inner)
    lineage = re.sub(r"[\d.]+", "", directory.replace(package, "")) + "/" + name
    return hashlib.sha256(lineage.encode("utf-8", "surrogateescape")).digest()[:8]


def read_page(path):
    data = Path(path).read_bytes()
    return gzip.decompress(data) if path.endswith(".gz") else data


DECLARED_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.I)


def decode(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        declared = DECLARED_CHARSET.search(data[:2048])
        try:
            return data.decode(declared[1].decode() if declared else "latin-1", "replace")
        except LookupError:
            return data.decode("latin-1")


UNREAD = re.compile(r"<!--.*?-->|<(head|script|style)\b.*?</\1\s*>", re.I | re.S)
BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|blockquote|br|caption|center|dd|div|dl|dt|figcaption|figure|footer|form"
    r"|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|select|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|ul)\b[^>]*>", re.I
)
ANY_TAG = re.compile(r"<[a-z/!?][^>]*>", re.I)
BLANKS = re.compile(r"[^\S\n]+")
BLANK_LINES = re.compile(r"\s*\n\s*")
HAS_WORD = re.compile(r"[^\W_]")


def text_of(page):
    """The visible text. Block tags end a line; inline tags vanish, since a word may go on behind them."""
    page = UNREAD.sub(" ", page)
    page = BLOCK_TAG.sub("\n", page)
    page = html.unescape(ANY_TAG.sub("", page))
    return BLANK_LINES.sub("\n", BLANKS.sub(" ", page)).strip()


# --- the collection -----------------------------------------------------------------------------------------


def row(page_id, path, package):
    text = text_of(decode(read_page(path)))
    # &#xD800; and the like decode to lone surrogates, which UTF-8 cannot hold.
    text = text.encode("utf-8", "replace").decode("utf-8")
    inner = page_id.split("/", 1)[1]
    return {"id": page_id, "url": f"file:///{inner}", "source": package, "text": text}


def write_collection(pages, out, size):
    """Write pages until the text holds `size` bytes. Returns the counts for the meta file."""
    digest, text_bytes, wordless, per_package = hashlib.sha256(), 0, 0, {}
    with open(out, "wb") as file:
        for _, page_id, path in pages:
            if text_bytes >= size:
                break
            package = page_id.split("/", 1)[0]
            page = row(page_id, path, package)
            if not HAS_WORD.search(page["text"]):
                # onefold never calls two empty texts duplicates, most tools do: no matter for a comparison.
                wordless += 1
                continue
            line = json.dumps(page, ensure_ascii=False).encode("utf-8") + b"\n"
            file.write(line)
            digest.update(line)
            text_bytes += len(page["text"].encode("utf-8"))
            per_package[package] = per_package.get(package, 0) + 1
        file_bytes = file.tell()
    return {
        "pages": sum(per_package.values()), "pages_without_words_left_out": wordless, "text_bytes": text_bytes, "file_bytes": file_bytes,
        "sha256": digest.hexdigest(), "pages_per_package": dict(sorted(per_package.items())),
    }


def parse_size(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(KB|MB|GB)", text.upper())
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: write it like 200MB or 1GB")
    return int(float(found[1]) * UNITS[found[2]])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=Path, help="JSONL file to write")
    parser.add_argument("--size", required=True, type=parse_size, help="text to gather: 50MB, 200MB, 1GB")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder for the downloaded packages")
    parser.add_argument("--packages", type=Path, default=PACKAGE_LIST, help="file with one package name per line")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    listed = listed_packages(arguments.packages)
    known = candidate_versions(listed)
    versions = {package: known[package] for package in listed if package in known}
    pages = []
    for package, version in versions.items():
        folder = unpacked(package, version, arguments.cache)
        found = list(pages_of(package, folder))
        print(f"{package} {version}: {len(found)} pages", file=sys.stderr)
        pages.extend(found)
    pages.sort()
    # A file that holds half a collection would pass for a smaller one: write beside, then rename.
    partial = arguments.out.with_name(arguments.out.name + ".partial")
    counts = write_collection(pages, partial, arguments.size)
    partial.rename(arguments.out)
    missing = [package for package in listed if package not in known]
    meta = {**counts, "asked_text_bytes": arguments.size, "packages": versions, "missing_packages": missing}
    Path(f"{arguments.out}.meta.json").write_text(json.dumps(meta, indent=1) + "\n", "utf-8")
    print(f"{counts['pages']} pages, {counts['text_bytes']} bytes of text", file=sys.stderr)
    if counts["text_bytes"] < arguments.size:
        print("the packages hold less text than asked for", file=sys.stderr)


if __name__ == "__main__":
    main()
