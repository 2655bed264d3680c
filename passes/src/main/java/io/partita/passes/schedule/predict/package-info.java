/** How long a schedule takes, and what it moves, by the figures of its target. */
package io.partita.passes.schedule.predict;
