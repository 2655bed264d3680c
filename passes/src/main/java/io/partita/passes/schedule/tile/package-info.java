/** Tiling of loops: sizes, order and predicted time. */
package io.partita.passes.schedule.tile;
