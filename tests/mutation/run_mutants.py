"""Takes every guard out, one at a time, and demands that its test fails.

usage: run_mutants.py BUILD_DIR SOURCE_DIR [--gtest_filter=PATTERNS] [--gtest_output=xml:FILE]

docs/guarantees.md has the table of guards: the guard's id and the test that fails without it. For
each row the test is run as it is (it must pass) and with HALO_MUTANT set to the id (it must fail).
A guard in the sources without a row, and a row without a guard, fail too. Speaks GoogleTest's
flags and report format, so that it is one test program among the others: `Mutants.<guard>`.
"""

import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROW = re.compile(r"^\| `([a-z][a-z0-9_.-]+)` \|.*\| `([A-Za-z0-9_]+\.[A-Za-z0-9_]+)` \|$")
GUARD = re.compile(r'\bGUARD\(\s*"([a-z0-9_.-]+)"')
SECONDS = 120
# Most of the time a test waits for a server that it starts.
PARALLEL = 2


def guards_in_sources(source):
    ids = set()
    for folder in ("engine", "schemas", "projections", "api"):
        for path in sorted((source / folder).rglob("*.[ch]*")):
            # The macro's own page shows an example.
            if path.name != "guard.h":
                ids.update(GUARD.findall(path.read_text(encoding="utf-8")))
    return ids


def guards_in_document(source):
    rows = {}
    text = (source / "docs/guarantees.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            rows[match.group(1)] = match.group(2)
    return rows


def programs(build):
    """Test programs that are GoogleTest's, with what each needs to run."""
    listing = subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, capture_output=True
    )
    tests = json.loads(listing.stdout)
    return [t for t in tests if t["protocol"] == "gtest" and t["name"] != "mutants"]


def run(program, test_filter, mutant=None):
    """The exit code, and whether any test ran."""
    environment = {**os.environ, **program.get("env", {})}
    if mutant:
        environment["HALO_MUTANT"] = mutant
    try:
        done = subprocess.run(
            [*program["cmd"], f"--gtest_filter={test_filter}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, True  # It hangs: that is a failure too.
    ran = re.search(rb"\[==========\] Running ([0-9]+) test", done.stdout)
    return done.returncode, bool(ran) and int(ran.group(1)) > 0


def holders(all_programs):
    """Which programs have which test: `Suite.Case` without instantiation names."""
    found = {}
    for program in all_programs:
        listed = subprocess.run(
            [*program["cmd"], "--gtest_list_tests"], capture_output=True, check=True
        ).stdout.decode()
        suite = ""
        for line in listed.splitlines():
            name = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = name.rstrip(".").split("/")[-1] if "/" in name else name.rstrip(".")
            else:
                found.setdefault(f"{suite}.{name.split('/')[0]}", []).append(program)
    return found


def judge(guard, test, where):
    """Empty when the test passes with the guard and fails without it, in one of its programs: a
    suite that several backends run has guards that only one of them meets."""
    having = {program["name"]: program for program in where.get(test, [])}
    if not having:
        return f"there is no test {test}"
    test_filter = f"*{test}*"
    for program in having.values():
        code, _ = run(program, test_filter, guard)
        if code != 0:
            code, ran = run(program, test_filter)
            return "" if code == 0 and ran else f"{test} fails with the guard in place"
    return f"{test} passes without the guard"


def report(path, results):
    suites = xml.etree.ElementTree.Element("testsuites")
    suite = xml.etree.ElementTree.SubElement(suites, "testsuite", name="Mutants")
    for guard, problem in results:
        case = xml.etree.ElementTree.SubElement(
            suite, "testcase", name=guard, classname="Mutants", status="run", result="completed"
        )
        if problem:
            xml.etree.ElementTree.SubElement(case, "failure", message=problem)
    xml.etree.ElementTree.ElementTree(suites).write(path)


def main():
    build, source = sys.argv[1], pathlib.Path(sys.argv[2])
    flags = dict(a.split("=", 1) for a in sys.argv[3:] if a.startswith("--") and "=" in a)
    patterns = flags.get("--gtest_filter", "*").split(":")
    rows = guards_in_document(source)
    guards = sorted(guards_in_sources(source) | set(rows))
    chosen = [g for g in guards if any(fnmatch.fnmatch(f"Mutants.{g}", p) for p in patterns)]
    where = holders(programs(build)) if chosen else {}
    known = guards_in_sources(source)

    def look_at(guard):
        if guard not in rows:
            return "docs/guarantees.md does not name its test"
        if guard not in known:
            return "there is no such guard in the sources"
        return judge(guard, rows[guard], where)

    results = []
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        for guard, problem in zip(chosen, pool.map(look_at, chosen)):
            print(f"[ RUN      ] Mutants.{guard}", flush=True)
            verdict = "[  FAILED  ]" if problem else "[       OK ]"
            print(f"{verdict} Mutants.{guard} {problem}".rstrip(), flush=True)
            results.append((guard, problem))
    output = flags.get("--gtest_output", "")
    if output.startswith("xml:"):
        report(output[4:], results)
    return 1 if any(problem for _, problem in results) else 0


if __name__ == "__main__":
    sys.exit(main())
