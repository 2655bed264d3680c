/**
 * What templates print: records of text and lists, with nothing left to compute. A record's
 * template has its name.
 */
package io.partita.backend.siracusa.model;
