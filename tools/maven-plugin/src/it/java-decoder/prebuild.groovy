// The model and what it answered, where the README says that they are.
File models = new File(basedir, '../../../../../tests/models/tiny-shakespeare/decode')
File folder = new File(basedir, 'src/main/onnx')
folder.mkdirs()
['network.onnx', 'inputs.npz', 'outputs.npz'].each { name ->
  new File(folder, name).bytes = new File(models, name).bytes
}
return true
