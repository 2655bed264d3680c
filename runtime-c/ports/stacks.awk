# Computes the maximum stack depths in bytes from the call graphs of gcc -fcallgraph-info=su:
#
#   awk -v entries='partita_run_control=3072 partita_run_core=1280' -f stacks.awk *.ci
#
# prints, for each function that starts on an empty stack, the maximum depth, the stack size and the deepest chain of
# calls. Exits with 1 if a stack is too small, if the call graph has a cycle, if a frame has no fixed size, or if a
# function is in no graph. Calls through pointers are calls of kernels: any function of a file in a folder named kernels, or
# of a program whose name ends with _elements or _chain, and possibly a number.

BEGIN {
    # Above the depth of libgcc's functions on 64-bit integers and doubles, including their callees.
    LIBRARY = 64
}

/^node:/ {
    split($0, quoted, "\"")
    name = quoted[2]
    known[name] = 1
    if (match(quoted[4], /\\n[0-9]+ bytes \([a-z,]*\)/)) {
        frame = substr(quoted[4], RSTART + 2, RLENGTH - 2)
        if (frame ~ /dynamic/ && frame !~ /bounded/) {
            fail(name " has a frame without a fixed size")
        }
        bytes = frame + 0
        if (!(name in frames) || bytes > frames[name]) {
            frames[name] = bytes
        }
        is_kernel = quoted[4] ~ /[n\/]kernels\/[a-z0-9_]+\.[ch]:/ || name ~ /_(elements|chain)[0-9]*$/
        if (is_kernel && !(name in kernels)) {
            kernels[name] = 1
            call("__indirect_call", name)
        }
    }
}

/^edge:/ {
    split($0, quoted, "\"")
    call(quoted[2], quoted[4])
}

END {
    if (failed) {
        exit 1
    }
    frames["__indirect_call"] = 0
    count = split(entries, list, " ")
    for (i = 1; i <= count; i++) {
        split(list[i], entry, "=")
        if (!(entry[1] in frames)) {
            fail("no call graph has " entry[1])
            exit 1
        }
        most = depth(entry[1])
        if (failed) {
            exit 1
        }
        path = entry[1]
        for (name = entry[1]; name in deepest; name = deepest[name]) {
            path = path " > " deepest[name]
        }
        line = entry[1] ": " most " of " entry[2] " bytes: " path
        if (most > entry[2]) {
            fail(line)
        } else {
            print line
        }
    }
    exit failed
}

function call(caller, callee) {
    if (!((caller, callee) in calls)) {
        calls[caller, callee] = 1
        callees[caller] = callees[caller] "\"" callee
    }
}

function depth(name,    names, count, i, most, below) {
    if (name in depths) {
        return depths[name]
    }
    if (!(name in frames)) {
        if (name !~ /^__/) {
            fail("no call graph has " name)
        }
        return LIBRARY
    }
    if (name in open) {
        fail(name " calls itself, or what it calls does")
        return 0
    }
    open[name] = 1
    count = split(callees[name], names, "\"")
    for (i = 2; i <= count; i++) {
        below = depth(names[i])
        if (below > most) {
            most = below
            deepest[name] = names[i]
        }
    }
    delete open[name]
    depths[name] = frames[name] + most
    return depths[name]
}

function fail(message) {
    print "stacks: " message > "/dev/stderr"
    failed = 1
}
