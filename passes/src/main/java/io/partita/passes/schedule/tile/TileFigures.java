package io.partita.passes.schedule.tile;

/**
 * What a loop takes in tiles of some sizes, whatever the order of its axes and the slots of its
 * operands.
 *
 * @param counts of tiles along each axis
 * @param moveCycles of each operand's transfer, the mean over its tiles
 * @param moveBytes of each operand's transfer, the mean over its tiles
 * @param callCycles of each kernel in a step, the mean over all steps
 * @param betweenCycles of what the control core does between two tiles
 */
record TileFigures(
    long[] counts,
    double[] moveCycles,
    double[] moveBytes,
    double[] callCycles,
    double betweenCycles) {}
