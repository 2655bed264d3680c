/** What a program costs on a target: when each thing happens, bytes moved, energy. */
package io.partita.passes.planning.cost;
