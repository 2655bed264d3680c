String log = new File(basedir, 'build.log').text
File golden = new File(basedir, 'src/test/golden/chips')
assert golden.list().any { it.endsWith('.c') }
assert !golden.list().any { it.endsWith('.l2') || it.endsWith('.l3') || it == 'checksums.txt' }
assert log.contains('is unchanged since it was compiled')
assert log.contains("isn't compiled to what was committed")
assert log.contains('--- golden/')
assert log.contains('+++ emitted/')
assert log.contains('-Dgolden.update=true accepts what was emitted')
assert log.contains("set by parameter <model> of execution 'chips' in ")
assert !log.contains('\tat io.partita')
