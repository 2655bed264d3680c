/** What lies in which memory of a device while a program runs, and whether it fits. */
package io.partita.passes.planning.residency;
