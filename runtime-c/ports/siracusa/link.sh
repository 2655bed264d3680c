#!/bin/sh
# Links a program with as much of its code in L1 as has room there beside its data: a compiler's command, without a linker script, that ends with "-o PROGRAM".
#   link.sh COMPILER ARGUMENT... -o PROGRAM
set -e
folder=$(dirname "$0")
for program; do :; done
# Calls between memories are longer than those within one, which relaxation shortens: without it, no function gets longer in the second program.
"$@" -T "$folder/siracusa.ld" -Wl,--no-relax
symbols=$("$("$1" -print-prog-name=nm)" -S "$program" | sort)
rm "$program"
{ printf '%s\n' "$symbols" && cat "$folder/siracusa.ld"; } | awk -f "$folder/near.awk" > "$program.ld"
"$@" -T "$program.ld"
