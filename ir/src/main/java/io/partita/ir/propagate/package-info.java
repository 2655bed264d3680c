/**
 * From the layouts of some values to those of all, by factor rules alone, and what they compute.
 */
package io.partita.ir.propagate;
