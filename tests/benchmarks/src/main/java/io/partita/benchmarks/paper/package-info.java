/**
 * What the paper on distributed inference on microcontrollers measures, measured again, and the
 * page that sets its figures beside these. Nothing here runs anything.
 */
package io.partita.benchmarks.paper;
