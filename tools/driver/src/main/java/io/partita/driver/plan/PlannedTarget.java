package io.partita.driver.plan;

import io.partita.ir.schedule.Packing;
import io.partita.ir.target.TargetDescription;

/**
 * What a plan is made for.
 *
 * @param weights how the constant matrices of products are stored
 */
public record PlannedTarget(TargetDescription description, Packing weights) {}
