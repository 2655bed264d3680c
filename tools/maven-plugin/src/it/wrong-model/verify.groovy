String log = new File(basedir, 'build.log').text
List<String> failures = log.split(/\[ERROR\] Failed to execute goal /).drop(1) as List
assert failures.size() == 4
assert failures[0].contains("wrong.onnx can't be compiled")
assert failures[0].contains("P1004: ")
assert failures[0].contains("set by parameter <model> of execution 'wrong' in ")
assert failures[1].contains("gone.onnx can't be compiled")
assert failures[2].contains('P6017: the number of devices and the strategy don\'t fit together')
assert failures[2].contains('--devices is <devices>')
assert failures[3].contains('parameter <jdkHome>: ')
assert failures[3].contains('holds no JDK; the compiler needs JDK 25 or newer')
assert !log.contains('\tat ')
assert !log.contains('Exception in thread')
