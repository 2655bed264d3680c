#include "levels.h"

int32_t partita_level(struct partita_levels to, float x, int32_t least, int32_t most)
{
    return partita_narrow_level(x, to.scale, to.zero, least, most);
}
