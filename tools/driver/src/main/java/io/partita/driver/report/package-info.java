/** What a compilation decided, as JSON: the source of {@code partita report}. */
package io.partita.driver.report;
