/** What the values of a device's graph are: their role, their size and the block they belong to. */
package io.partita.passes.program.values;
