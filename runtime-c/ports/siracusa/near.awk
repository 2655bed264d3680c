# Chooses the functions and constants that have room in L1, from a program that is linked without any there, and prints a linker script that
# puts them there:
#   { nm -S PROGRAM | sort; cat siracusa.ld; } | awk -f near.awk
# Functions are chosen in the order of their addresses; those with the same name have sections with the same name.
BEGIN {
    for (i = 0; i < 16; i++) {
        digit[sprintf("%x", i)] = i
    }
}

function number(text,    i, value) {
    value = 0
    for (i = 1; i <= length(text); i++) {
        value = value * 16 + digit[substr(text, i, 1)]
    }
    return value
}

function padded(bytes) {
    return int((bytes + 15) / 16) * 16
}

function print_near(    i, room, constants) {
    room = at["__l1_end"] - padded(at["__l1_state_end"]) - 64
    constants = padded(at["__constants_end"] - at["__constants"])
    print "    .near : ALIGN(16) {"
    print "        __near_begin = .;"
    if (constants <= room) {
        print "        *(.rodata .rodata.* .srodata .srodata.*)"
        room -= constants
    }
    for (i = 1; i <= names; i++) {
        if (begin[i] < at["__rare_code"] && bytes[name[i]] <= room) {
            print "        *(.text." name[i] ")"
            room -= bytes[name[i]]
        }
    }
    print "        . = ALIGN(4);"
    print "        __near_end = .;"
    print "    } > L1 AT > L2 :constants"
    print "    __near_source = LOADADDR(.near);"
}

/^[0-9a-f]+ [^ ]+ / && !is_script {
    at[$NF] = number($1)
}

/^[0-9a-f]+ [0-9a-f]+ [tT] / && !is_script {
    if (!($4 in bytes)) {
        name[++names] = $4
        begin[names] = number($1)
    }
    bytes[$4] += padded(number($2))
}

/^\/\*/ { is_script = 1 }

is_script && /^    \.text :/ { print_near() }

is_script { print }
