/* Recording and replaying instructions, in place of the header that comes with Tenstorrent's compiler. */
#pragma once

#include <cstdint>

namespace lltt {

enum ExecBool : bool { NoExec, Exec };

constexpr std::uint32_t replay_insn(std::uint32_t start, std::uint32_t length) {
    return 0x04u << 24 | start << 14 | length << 4;
}

[[gnu::always_inline]] inline void replay(std::uint32_t start, std::uint32_t length) {
    *reinterpret_cast<volatile std::uint32_t*>(0xffe40000u) = replay_insn(start, length);
}

template <ExecBool executes = NoExec>
[[gnu::always_inline]] inline void record(std::uint32_t start, std::uint32_t length) {
    *reinterpret_cast<volatile std::uint32_t*>(0xffe40000u) = replay_insn(start, length) | executes << 1 | 1;
}

}  // namespace lltt
