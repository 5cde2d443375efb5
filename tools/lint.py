#!/usr/bin/env python3
"""Runs clang-tidy over every source of a build folder that has not passed as it is.

usage: lint.py [--analyze] [--clang-tidy PROGRAM] [--jobs N] [--batch N] BUILD_DIR [PATTERN]

Sources of one folder that are compiled alike are looked at in batches, as one translation unit that
includes them: nine tenths of the time goes into the libraries' headers. A batch whose sources do
not compile together, because two have a name of their own in common, is parted until they do.

With --analyze the static analyzer, which takes three times as long as all other checks together,
walks the paths of what is served (not of tests and benchmarks, where they are mostly the test
library's), and nothing else is checked.

A source passes for good: its key is the hash of the tool's version, the configuration that is in
force in its folder, its command line, and the bytes of everything it includes, as the build noted
it. What passed is kept in BUILD_DIR/lint.json (analyze.json), so a second run looks only at what
changed. PATTERN is a part of the paths to look at. REQUIRES: BUILD_DIR is built. Exit code 1:
something was found.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading

ARGUMENTS = ["--quiet"]
BATCH = 12
ANALYZER = ["--checks=-*,clang-analyzer-*,-clang-analyzer-optin.core.EnumCastOutOfRange"]
NOT_SERVED = ("tests/", "bench/")


class Hashes:
    """The hash of a file's bytes, read once a run."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            try:
                data = pathlib.Path(path).read_bytes()
            except OSError:
                data = b"missing"
            self.known[path] = hashlib.sha256(data).hexdigest()
        return self.known[path]


def sources(build, root, pattern, analyze):
    """`{path from the root: command}` of our own sources."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = (build / command["file"]).resolve()
        if root not in path.parents or build in path.parents:
            continue
        name = str(path.relative_to(root))
        if pattern in name and not (analyze and name.startswith(NOT_SERVED)):
            found[name] = command
    return found


def dependencies(build):
    """`{object: [paths]}` as ninja noted them."""
    out = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True,
                         capture_output=True, text=True).stdout
    found = {}
    current = None
    for line in out.splitlines():
        if line.startswith("    "):
            current.append(str((build / line.strip()).resolve()))
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], [])
    return found


def configurations(root, name):
    """The `.clang-tidy` files from the source's folder up to the root."""
    folder = (root / name).parent
    return [f / ".clang-tidy" for f in [folder, *folder.parents]
            if root in [f, *f.parents] and (f / ".clang-tidy").exists()]


def key_of(name, command, version, root, deps, hashes, arguments):
    parts = [version, *arguments, *shlex.split(command["command"])]
    for path in configurations(root, name):
        parts += [str(path.relative_to(root)), hashes.of(str(path))]
    for path in sorted(deps):
        parts += [path, hashes.of(path)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def batches(todo, wanted, size):
    """The names of `todo`, in lists of one folder and one command line each."""
    alike = {}
    for name in sorted(todo):
        command = wanted[name]
        line = shlex.split(command["command"])
        line = [w for w in line if w != command["file"] and command["output"] not in w]
        alike.setdefault((os.path.dirname(name), *line), []).append(name)
    for names in alike.values():
        for start in range(0, len(names), size):
            yield names[start:start + size]


class Run:
    def __init__(self, tool, build, root, analyze):
        self.tool = tool
        self.arguments = ARGUMENTS + (ANALYZER if analyze else [])
        self.build = build
        self.root = root
        self.lock = threading.Lock()
        self.record = build / ("analyze.json" if analyze else "lint.json")
        self.passed = json.loads(self.record.read_text()) if self.record.exists() else {}
        self.failed = []

    def look_at(self, names, todo, wanted):
        """One batch; halves of it when it does not compile as one."""
        if len(names) == 1:
            done = self.tidy(["-p", str(self.build), names[0]])
        else:
            done = self.tidy_together(names, wanted[names[0]])
            if "[clang-diagnostic-error]" in done.stdout:
                for part in self.parts(names, done.stdout):
                    self.look_at(part, todo, wanted)
                return
        with self.lock:
            if done.returncode == 0 and "warning:" not in done.stdout:
                self.passed.update((name, todo[name]) for name in names)
                new = self.record.with_suffix(".new")
                new.write_text(json.dumps(self.passed, indent=0, sort_keys=True))
                os.replace(new, self.record)
            else:
                self.failed.append(names)
                print(done.stdout or done.stderr, end="", flush=True)

    def parts(self, names, output):
        """Those that the compiler names, and the others; halves, when that parts nothing."""
        errors = [line for line in output.splitlines() if "[clang-diagnostic-error]" in line]
        apart = [n for n in names if any(line.startswith(f"{self.root / n}:") for line in errors)]
        if not apart or len(apart) == len(names):
            apart = names[:len(names) // 2]
        return [[n for n in names if n not in apart], apart]

    def tidy(self, arguments):
        return subprocess.run([self.tool, *self.arguments, *arguments], cwd=self.root,
                              capture_output=True, text=True)

    def tidy_together(self, names, command):
        """The batch lies in a folder of its own, with the configuration of the sources' folder."""
        words = shlex.split(command["command"])
        compilers = [os.path.basename(w) in ("g++", "c++", "clang++") for w in words]
        words = words[compilers.index(True):]
        with tempfile.TemporaryDirectory(prefix="lint.", dir=self.build) as folder:
            source = pathlib.Path(folder) / "batch.cc"
            source.write_text("".join(f'#include "{self.root / name}"\n' for name in names))
            nearest = configurations(self.root, names[0])[0]
            (source.parent / ".clang-tidy").write_bytes(nearest.read_bytes())
            words = [str(source) if w == command["file"] else w for w in words]
            entry = {"directory": str(self.build), "file": str(source), "arguments": words}
            (source.parent / "compile_commands.json").write_text(json.dumps([entry]))
            return self.tidy(["--checks=-bugprone-suspicious-include", "-extra-arg=-ferror-limit=0",
                              "-p", folder, str(source)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--analyze", action="store_true")
    parser.add_argument("--clang-tidy", default="clang-tidy-19")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("build")
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    root = pathlib.Path(__file__).resolve().parent.parent
    version = subprocess.run([options.clang_tidy, "--version"], check=True, capture_output=True,
                             text=True).stdout
    noted = dependencies(build)
    hashes = Hashes()
    run = Run(options.clang_tidy, build, root, options.analyze)
    todo = {}
    wanted = sources(build, root, options.pattern, options.analyze)
    for name, command in wanted.items():
        # Without a note of what it includes, nothing can be known to be unchanged.
        deps = noted.get(command["output"])
        key = key_of(name, command, version, root, deps, hashes, run.arguments) if deps else ""
        if not key or run.passed.get(name) != key:
            todo[name] = key
    print(f"lint: {len(todo)} of {len(wanted)} sources to look at", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(run.look_at, names, todo, wanted)
                     for names in batches(todo, wanted, options.batch)]:
            done.result()
    if not wanted:
        sys.exit("lint: no source to look at")
    clean = len(wanted) - sum(len(names) for names in run.failed)
    print(f"lint: {clean} of {len(wanted)} sources are known to be clean")
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main()
