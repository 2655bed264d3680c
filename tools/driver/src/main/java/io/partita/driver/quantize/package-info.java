/** Post-training quantization: calibration, choices for each layer, and their errors. */
package io.partita.driver.quantize;
