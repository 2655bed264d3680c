/** Recorded test cases and how results are compared with them. */
package io.partita.driver.cases;
