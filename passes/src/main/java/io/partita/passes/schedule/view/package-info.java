/** Values as strided views of regions of memory, so that what only moves elements takes no time. */
package io.partita.passes.schedule.view;
