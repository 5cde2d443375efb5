#!/usr/bin/env python3
"""Freezes schemas/*.fbs into schemas/released, each only if it conforms to the copy before.

usage: release_schemas.py FLATC FOLDER NAME...
"""

import pathlib
import shutil
import subprocess
import sys


def main(flatc, folder, names):
    folder = pathlib.Path(folder)
    for name in names:
        current = folder / f'{name}.fbs'
        released = folder / 'released' / f'{name}.fbs'
        if released.exists():
            conforms = subprocess.run([flatc, '--conform', str(released), str(current)])
            if conforms.returncode != 0:
                sys.exit(f'{current} does not conform to {released}')
            if released.read_bytes() == current.read_bytes():
                continue
        shutil.copyfile(current, released)
        print(f'released {current}')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
