/** Runs recorded test cases and compares results with them. */
package io.partita.driver.cases;
