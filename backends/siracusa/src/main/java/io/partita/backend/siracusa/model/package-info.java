/**
 * The output model: records of text and lists, with nothing left to compute. Each record has a
 * template of the same name.
 */
package io.partita.backend.siracusa.model;
