package io.partita.driver.plan;

import io.partita.ir.schedule.Packing;
import io.partita.ir.target.TargetDescription;

/**
 * What a plan is made for.
 *
 * @param card the target with all of its memories, where a setting left less of them
 * @param weights how the constant matrices of products are stored
 */
public record PlannedTarget(
    TargetDescription card, TargetDescription description, Packing weights) {}
