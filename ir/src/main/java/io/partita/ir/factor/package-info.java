/**
 * Propagation of splits through operations: the factor rule of each operation, and its local form
 * on one device. Propagation of layouts uses rules only, and no operation by name.
 */
package io.partita.ir.factor;
