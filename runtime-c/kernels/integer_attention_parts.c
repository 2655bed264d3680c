#include "integer_attention_parts.h"

struct partita_attention_blocks partita_attention_blocks(int32_t heads, int32_t lines, int32_t columns, int32_t core,
                                                         int32_t cores)
{
    const int32_t across = (columns + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const int32_t down = (lines + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const struct partita_range share = partita_share(heads * down * across, 1, core, cores);
    const int32_t row = across <= 1 ? share.from : share.from / across;
    const int32_t head = down <= 1 ? row : row / down;
    return (struct partita_attention_blocks){.head = head,
                                             .line = (row - head * down) * PARTITA_BLOCK,
                                             .column = (share.from - row * across) * PARTITA_BLOCK,
                                             .count = share.to - share.from};
}
