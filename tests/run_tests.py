"""Runs the test programs of a build folder and adds up what they report.

usage: run_tests.py BUILD_DIR [PATTERN]

Programs and their suites come from meson. Suites `postgres`, `e2e` and `nemesis` start servers
and run one program at a time; the others two at a time. PATTERN selects the program or suite of
that name, or else the tests whose name contains it. The last line is
`N passed, N failed[, N skipped]`; the exit code is 0 only when a test ran and none failed.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

PARALLEL = 2
SERIAL_SUITES = {"postgres", "e2e", "nemesis", "mutation"}
# Meson's limits are for a quiet machine; a shared one is slower. Nothing may hang for ever.
TIMEOUT_FACTOR = 10
NO_TIMEOUT_LIMIT = 3600
TAIL_LINES = 60
# What a sanitizer reports is far from the end when a program goes on after it.
REPORT = re.compile(r"(?:WARNING|ERROR): \w+Sanitizer:|: runtime error: ")
REPORT_LINES = 120
# For programs that are built with a sanitizer, and those that they start.
SANITIZERS = {
    "TSAN_OPTIONS": f"suppressions={pathlib.Path(__file__).resolve().parent}/thread_sanitizer.supp",
}

running = set()


class Result:
    """What one program reported."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = []
        self.skipped = 0
        self.output = ""
        self.seconds = 0.0


def suites(test):
    """The bare names of a test's suites; meson writes `project:suite`."""
    return {suite.split(":")[-1] for suite in test["suite"]}


def select(tests, pattern):
    """Returns the programs to run and the test filter to run them with."""
    if not pattern:
        return tests, None
    named = [t for t in tests if t["name"] == pattern or pattern in suites(t)]
    if named:
        return named, None
    return tests, pattern if "*" in pattern else f"*{pattern}*"


def read_report(result, report):
    """Adds up a report in GoogleTest's XML format."""
    root = xml.etree.ElementTree.parse(report).getroot()
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.get("status") == "notrun":
            continue  # Disabled, or left out by the filter.
        if case.find("failure") is not None:
            result.failed.append(name)
        elif case.get("result") == "skipped" or case.find("skipped") is not None:
            result.skipped += 1
        else:
            result.passed += 1


def read_output(result):
    """For a program that died before it could write its report: count what it printed."""
    started = re.findall(r"^\[ RUN      \] (\S+)", result.output, re.MULTILINE)
    passed = re.findall(r"^\[       OK \] (\S+)", result.output, re.MULTILINE)
    skipped = re.findall(r"^\[  SKIPPED \] (\S+) \(", result.output, re.MULTILINE)
    result.passed = len(passed)
    result.skipped = len(skipped)
    result.failed = [t for t in started if t not in set(passed) | set(skipped)]


def end(process):
    """Ends the program and everything it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def interrupted(number, _frame):
    """Takes the running programs along when this one is told to stop."""
    for process in list(running):
        end(process)
    os._exit(128 + number)


def run(test, test_filter, scratch):
    """Runs one program to its end."""
    result = Result(test["name"])
    report = pathlib.Path(scratch) / f"{test['name']}.xml"
    command = list(test["cmd"]) + [f"--gtest_output=xml:{report}"]
    if test_filter:
        command.append(f"--gtest_filter={test_filter}")
    limit = (test.get("timeout") or 0) * TIMEOUT_FACTOR or NO_TIMEOUT_LIMIT
    environment = {**SANITIZERS, **os.environ, **test.get("env", {})}
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=test.get("workdir"),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    running.add(process)
    ended = ""
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        ended = f"no end within {limit} s"
        end(process)
        output, _ = process.communicate()
    running.discard(process)
    result.seconds = time.monotonic() - begin
    result.output = output.decode(errors="replace")
    try:
        read_report(result, report)
    except (OSError, xml.etree.ElementTree.ParseError):
        read_output(result)
        ended = ended or "no report"
    if process.returncode < 0 and not ended:
        ended = f"signal {-process.returncode}"
    if (process.returncode != 0 or ended) and not result.failed:
        result.failed.append(f"{test['name']} ({ended or f'exit code {process.returncode}'})")
    return result


def show(result):
    """One line a program; for a failed one also its failed tests and the end of its output."""
    ran = result.passed + len(result.failed) + result.skipped
    if ran == 0:
        return
    verdict = "FAILED" if result.failed else "ok"
    skipped = f"  {result.skipped} skipped" if result.skipped else ""
    print(f"{result.name:<28} {verdict:<7} {ran:>5} tests {result.seconds:7.1f} s{skipped}",
          flush=True)
    if not result.failed:
        return
    for name in result.failed:
        print(f"  failed: {name}")
    lines = result.output.splitlines()
    reported = next((at for at, line in enumerate(lines) if REPORT.search(line)), len(lines))
    tail = max(len(lines) - TAIL_LINES, 0)
    shown = lines[reported : min(reported + REPORT_LINES, tail)]
    for line in shown + (["..."] if shown else []) + lines[tail:]:
        print(f"  | {line}")
    sys.stdout.flush()


def main():
    build = sys.argv[1]
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    listing = subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, capture_output=True
    )
    tests = [t for t in json.loads(listing.stdout) if t.get("protocol") == "gtest"]
    chosen, test_filter = select(tests, pattern)
    serial = [t for t in chosen if suites(t) & SERIAL_SUITES]
    parallel = [t for t in chosen if t not in serial]
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    results = []
    with tempfile.TemporaryDirectory(prefix="halo-tests.") as scratch:
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            jobs = [pool.submit(run, t, test_filter, scratch) for t in parallel]
            for job in concurrent.futures.as_completed(jobs):
                results.append(job.result())
                show(results[-1])
        for test in serial:
            results.append(run(test, test_filter, scratch))
            show(results[-1])
    passed = sum(r.passed for r in results)
    failed = [name for r in results for name in r.failed]
    skipped = sum(r.skipped for r in results)
    if failed:
        print("\nfailed tests:")
        for name in failed:
            print(f"  {name}")
    if passed + len(failed) == 0:
        print(f"no test ran{f' that matches {pattern!r}' if pattern else ''}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed > 0 and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
