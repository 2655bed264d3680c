/**
 * What a chip does, with nothing left to decide: tiles, places in its memories, transfers and
 * messages in order. A backend only prints it.
 */
package io.partita.ir.schedule;
