/**
 * proto → code: proto/report.proto for the topic; all others, which are of other projects, for the gRPC door, with the
 * descriptors that its reflection tells.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { localBin, root, run } from './freshness.mjs';

const PROTO = join(root, 'proto');
export const GENERATED = ['src/topic/codec/generated', 'src/doors/envoy/generated'];
const OPTIONS = ['--no-verify', '--no-delimited', '--no-service', '--no-typeurl', '--no-convert', '--no-beautify'];

export function makeProtos() {
  const [topic, envoy] = GENERATED.map((folder) => join(root, folder));
  generate('quotamesh', join(topic, 'report.js'), ['report.proto']);
  const foreign = ['envoy', 'grpc', 'kuadrant', 'ratelimit'].flatMap(protosBelow);
  generate('envoy', join(envoy, 'messages.js'), foreign);
  const files = JSON.stringify(descriptorsOf(foreign), null, 1);
  writeFileSync(join(envoy, 'descriptors.js'), `export const FILES = ${files};\n`);
  writeFileSync(join(envoy, 'descriptors.d.ts'), DESCRIPTORS_TYPE);
}

function generate(name, out, files) {
  mkdirSync(join(out, '..'), { recursive: true });
  const pbjs = [localBin('protobufjs-cli', 'pbjs'), '--target', 'static-module', '--wrap', 'esm', '--root', name];
  const paths = files.map((file) => join(PROTO, file));
  run(process.execPath, [...pbjs, '--dts', ...OPTIONS, '--path', PROTO, '--out', out, ...paths]);
}

function protosBelow(folder) {
  const found = readdirSync(join(PROTO, folder), { recursive: true, withFileTypes: true });
  const files = found.filter(({ name }) => name.endsWith('.proto'));
  return files.map(({ parentPath, name }) => relative(PROTO, join(parentPath, name))).sort();
}

/** One file per package; `bytes` is its FileDescriptorProto in base64. */
const DESCRIPTORS_TYPE = `export const FILES: readonly {
  readonly name: string;
  readonly symbols: readonly string[];
  readonly needs: readonly string[];
  readonly bytes: string;
}[];
`;

/** protobufjs writes one file per package, without what it needs and with relative names: both are added. */
function descriptorsOf(files) {
  const require = createRequire(import.meta.url);
  const protobuf = require('protobufjs');
  const { FileDescriptorProto } = require('protobufjs/ext/descriptor');
  const loaded = new protobuf.Root();
  loaded.resolvePath = (_, target) => (/^(google|\/)/.test(target) ? target : join(PROTO, target));
  loaded.loadSync(files, { keepCase: true });
  // Older clients ask for v1alpha, which is the same.
  const reflection = readFileSync(join(PROTO, 'grpc/reflection/v1/reflection.proto'), 'utf8');
  protobuf.parse(reflection.replace('grpc.reflection.v1;', 'grpc.reflection.v1alpha;'), loaded, { keepCase: true });
  loaded.resolveAll();
  return loaded.toDescriptor('proto3').file.map((file) => {
    const names = { symbols: [], needs: new Set() };
    for (const message of file.messageType) completeMessage(loaded, file.package, message, names);
    for (const { name } of file.enumType) names.symbols.push(`${file.package}.${name}`);
    for (const service of file.service) completeService(loaded, file.package, service, names);
    names.needs.delete(file.name);
    file.dependency = [...names.needs];
    const bytes = Buffer.from(FileDescriptorProto.encode(file).finish()).toString('base64');
    return { name: file.name, symbols: names.symbols, needs: file.dependency, bytes };
  });
}

function completeMessage(loaded, scope, message, names) {
  const name = `${scope}.${message.name}`;
  names.symbols.push(name);
  const { fieldsById } = loaded.lookupType(name);
  for (const field of message.field) {
    const { map, resolvedType } = fieldsById[field.number];
    if (map) completeMap(name, message, field, resolvedType, names);
    else if (resolvedType !== null) field.typeName = absolute(resolvedType, names);
  }
  for (const nested of message.nestedType) if (!nested.options?.mapEntry) completeMessage(loaded, name, nested, names);
  for (const nested of message.enumType) names.symbols.push(`${name}.${nested.name}`);
}

/** Names the message of a map's entries as protoc does: clients look for it by that name. */
function completeMap(scope, message, field, valueType, names) {
  const entry = message.nestedType.find(({ name }) => name === field.typeName);
  const words = field.name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  entry.name = `${words.join('')}Entry`;
  field.typeName = `.${scope}.${entry.name}`;
  const [, value] = entry.field;
  if (valueType !== null) value.typeName = absolute(valueType, names);
}

function completeService(loaded, scope, service, names) {
  const name = `${scope}.${service.name}`;
  names.symbols.push(name);
  const { methods } = loaded.lookupService(name);
  for (const method of service.method) {
    names.symbols.push(`${name}.${method.name}`);
    method.inputType = absolute(methods[method.name].resolvedRequestType, names);
    method.outputType = absolute(methods[method.name].resolvedResponseType, names);
  }
}

/** Adds the file of the type to what is needed: it is named by the package, as toDescriptor does. */
function absolute(type, { needs }) {
  let parent = type.parent;
  while (!(parent.constructor.name === 'Namespace')) parent = parent.parent;
  needs.add(`${parent.fullName.slice(1).replaceAll('.', '_')}.proto`);
  return type.fullName;
}
