/** Search for the best strategy and number of devices. */
package io.partita.passes.planning.search;
