#!/usr/bin/env python3
"""Writes a C++ header that holds files as they are.

usage: embed.py OUTPUT NAMESPACE FILE...

The header defines NAMESPACE::EmbeddedFile and NAMESPACE::kEmbeddedFiles, in the order given.
"""

import pathlib
import sys

PLAIN = set(range(0x20, 0x7F)) - set(b'"\\?')
BYTES_A_LINE = 64


def literal(data):
    """`data` as adjacent string literals; octal escapes cannot run into what follows them."""
    lines = []
    for start in range(0, len(data), BYTES_A_LINE):
        piece = data[start:start + BYTES_A_LINE]
        lines.append('"' + ''.join(chr(b) if b in PLAIN else f'\\{b:03o}' for b in piece) + '"')
    return '\n     '.join(lines or ['""'])


def main(output, namespace, files):
    entries = []
    for name in files:
        data = pathlib.Path(name).read_bytes()
        entries.append(f'    {{"{pathlib.Path(name).name}",\n'
                       f'     {{{literal(data)},\n     {len(data)}}}}},\n')
    pathlib.Path(output).write_text(
        '#pragma once\n\n#include <string_view>\n\n'
        f'namespace {namespace} {{\n\n'
        'struct EmbeddedFile {\n  std::string_view name;\n  std::string_view bytes;\n};\n\n'
        'inline constexpr EmbeddedFile kEmbeddedFiles[] = {\n'
        f'{"".join(entries)}'
        f'}};\n\n}}  // namespace {namespace}\n')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
