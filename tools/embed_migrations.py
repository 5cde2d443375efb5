"""Writes the migration files as a C++ header: embed_migrations.py OUTPUT FILE...

The files stay as they are; what is in them is judged when the program parses them, so that a
file that breaks the rules fails a test with a message and not this script.
"""

import os
import sys

# A string literal may be at most 64 KiB for some compilers; pieces are joined by the compiler.
PIECE = 8000
DELIMITER = "halo_sql"


def literal(text):
    if f"){DELIMITER}\"" in text:
        sys.exit(f"a migration contains the delimiter {DELIMITER}")
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)] or [""]
    return "\n".join(f'R"{DELIMITER}({piece}){DELIMITER}"' for piece in pieces)


def main():
    output, files = sys.argv[1], sys.argv[2:]
    entries = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            entries.append(f'    {{"{os.path.basename(path)}", {literal(file.read())}}},\n')
    with open(output, "w", encoding="utf-8") as out:
        out.write(
            "// Made by tools/embed_migrations.py; do not edit.\n"
            "#pragma once\n\n"
            '#include "engine/postgres/migration_file.h"\n\n'
            "namespace engine::postgres {\n\n"
            "inline constexpr MigrationSource kEmbeddedMigrations[] = {\n"
            + "".join(entries)
            + "};\n\n}  // namespace engine::postgres\n"
        )


main()
