# Prints the sizes and checksums of a chip's L2 and L3 files from checksums.txt, for the assembler.
awk -v chip="$1" '
$3 == chip ".l2" { l2 = $2 ", 0x" $1 }
$3 == chip ".l3" { l3 = $2 ", 0x" $1 }
END { print (l2 == "" ? "0, 0" : l2) ", " (l3 == "" ? "0, 0" : l3) }' "$([ -f checksums.txt ] && echo checksums.txt || echo /dev/null)"
