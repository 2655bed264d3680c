/** Placement of the data of a device in its memories, and whether it fits. */
package io.partita.passes.planning.residency;
