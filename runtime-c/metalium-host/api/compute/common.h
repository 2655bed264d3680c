/* Types of compute kernels. */
#pragma once

#include "api/kernel.h"

enum class SrcOrder : uint8_t { Regular, Reverse };
enum class PoolType : uint8_t { SUM, AVG, MAX };
enum class ReduceDim : uint8_t { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
enum class EltwiseBinaryReuseDestType : uint8_t { NONE, DEST_TO_SRCA, DEST_TO_SRCB };
