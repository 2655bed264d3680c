/** Kinds, sizes and blocks of the values of a device's graph. */
package io.partita.passes.program.values;
