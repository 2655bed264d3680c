/** Shows the decisions of a compilation, and a run, on one HTML page. */
package io.partita.report;
