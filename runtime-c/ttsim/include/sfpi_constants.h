/* Numbers of registers, formats and variants of instructions of Wormhole's vector engine. */
#pragma once

namespace sfpi {

constexpr unsigned SFP_DESTREG_STRIDE = 2;

constexpr unsigned CREG_IDX_0P837300003 = 8;
constexpr unsigned CREG_IDX_0 = 9;
constexpr unsigned CREG_IDX_1 = 10;
constexpr unsigned CREG_IDX_NEG_1 = 11;
constexpr unsigned CREG_IDX_PRGM1 = 12;
constexpr unsigned CREG_IDX_PRGM2 = 13;
constexpr unsigned CREG_IDX_PRGM3 = 14;
constexpr unsigned CREG_IDX_TILEID = 15;

constexpr unsigned SFPLOADI_MOD0_FLOATB = 0;
constexpr unsigned SFPLOADI_MOD0_FLOATA = 1;
constexpr unsigned SFPLOADI_MOD0_USHORT = 2;
constexpr unsigned SFPLOADI_MOD0_SHORT = 4;
constexpr unsigned SFPLOADI_MOD0_UPPER = 8;
constexpr unsigned SFPLOADI_MOD0_LOWER = 10;

constexpr unsigned SFPLOAD_MOD0_FMT_SRCB = 0;
constexpr unsigned SFPLOAD_MOD0_FMT_FP16A = 1;
constexpr unsigned SFPLOAD_MOD0_FMT_FP16B = 2;
constexpr unsigned SFPLOAD_MOD0_FMT_FP32 = 3;
constexpr unsigned SFPLOAD_MOD0_FMT_INT32 = 4;
constexpr unsigned SFPLOAD_MOD0_FMT_UINT16 = 6;
constexpr unsigned SFPLOAD_MOD0_FMT_HI16 = 7;
constexpr unsigned SFPLOAD_MOD0_FMT_INT16 = 8;
constexpr unsigned SFPLOAD_MOD0_FMT_LO16 = 9;
constexpr unsigned SFPLOAD_MOD0_FMT_SM32 = 12;
constexpr unsigned SFPLOAD_ADDR_MODE_NOINC = 3;
constexpr unsigned SFPSTORE_MOD0_FMT_SRCB = 0;

constexpr unsigned SFPMAD_MOD1_OFFSET_NONE = 0;
constexpr unsigned SFPIADD_MOD1_CC_LT0 = 0;
constexpr unsigned SFPIADD_MOD1_ARG_IMM = 1;
constexpr unsigned SFPIADD_MOD1_ARG_2SCOMP_LREG_DST = 2;
constexpr unsigned SFPIADD_MOD1_CC_NONE = 4;
constexpr unsigned SFPIADD_MOD1_CC_GTE0 = 8;
constexpr unsigned SFPABS_MOD1_INT = 0;
constexpr unsigned SFPEXMAN_MOD1_PAD9 = 1;
constexpr unsigned SFPEXEXP_MOD1_SET_CC_SGN_EXP = 2;
constexpr unsigned SFPEXEXP_MOD1_SET_CC_COMP_EXP = 8;
constexpr unsigned SFPSETCC_MOD1_LREG_LT0 = 0;
constexpr unsigned SFPSETCC_MOD1_LREG_NE0 = 2;
constexpr unsigned SFPSETCC_MOD1_LREG_GTE0 = 4;
constexpr unsigned SFPSETCC_MOD1_LREG_EQ0 = 6;
constexpr unsigned SFPENCC_MOD1_EU_R1 = 0;
constexpr unsigned SFPENCC_MOD1_EI_RI = 10;
constexpr unsigned SFPENCC_IMM12_BOTH = 3;
constexpr unsigned SFPSHFT2_MOD1_SHFT_LREG = 5;
constexpr unsigned SFPSHFT2_MOD1_SHFT_IMM = 6;
constexpr unsigned SFPSWAP_MOD1_SWAP = 0;
constexpr unsigned SFPSWAP_MOD1_VEC_MIN_MAX = 1;
constexpr unsigned SFPCAST_MOD1_SM32_TO_FP32_RNE = 0;
constexpr unsigned SFPCAST_MOD1_INT32_TO_FP32_RNE = 0;
constexpr unsigned SFPSTOCHRND_RND_EVEN = 0;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_FP16A = 0;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_FP16B = 1;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_UINT8 = 2;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_INT8 = 3;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_UINT16 = 6;
constexpr unsigned SFPSTOCHRND_MOD1_FP32_TO_INT16 = 7;

}  // namespace sfpi
