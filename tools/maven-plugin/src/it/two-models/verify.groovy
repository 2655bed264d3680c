import java.util.zip.ZipFile

assert new File(basedir, 'prefill/target/classes/com/example/Prefill.class').exists()
def names = { file -> new ZipFile(new File(basedir, file)).withCloseable { it.entries()*.name } }
assert names('prefill/target/prefill-1-prefill.zip').containsAll(['com/example/Prefill.java', 'model.json'])
assert new File(basedir, 'build.log').text.contains('note P6310: the model was quantized')
List<String> chips = names('chips/target/chips-1-decoder.zip')
assert chips.contains('Makefile')
assert chips.any { it.endsWith('.l2') }
assert !new File(basedir, 'build.log').text.contains('not marked @threadSafe')
