package io.partita.passes.schedule.tile;

/**
 * The figures of a loop for some tile sizes, independent of the order of axes and the slots of
 * operands.
 *
 * @param counts the number of tiles along each axis
 * @param moveCycles the mean cycles of the transfer of a tile of each operand
 * @param moveBytes the mean bytes of the transfer of a tile of each operand
 * @param callCycles the mean cycles of each kernel over all steps
 * @param betweenCycles the cycles of the control core between two tiles
 */
record TileFigures(
    long[] counts,
    double[] moveCycles,
    double[] moveBytes,
    double[] callCycles,
    double betweenCycles) {}
