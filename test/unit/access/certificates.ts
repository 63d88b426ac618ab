import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A self-signed authority in `folder`. */
export async function makeAuthority(folder: string, name: string): Promise<KeyPair> {
  const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const request = ['req', '-x509', ...KEY, '-keyout', keyFile, '-out', certFile];
  await run('openssl', [...request, '-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE']);
  return await read(certFile, keyFile);
}

/** Signed by the authority. */
export async function makeCertificate(
  folder: string,
  authority: KeyPair,
  { name, alternative }: Names,
): Promise<KeyPair> {
  const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const [request, extensions] = [join(folder, `${name}.csr`), join(folder, `${name}.ext`)];
  await writeFile(extensions, `subjectAltName=${alternative}\n`);
  await run('openssl', ['req', ...KEY, '-keyout', keyFile, '-out', request, '-subj', `/CN=${name}`]);
  const signed = ['-CA', authority.certFile, '-CAkey', authority.keyFile, '-CAcreateserial', '-days', '2'];
  await run('openssl', ['x509', '-req', '-in', request, ...signed, '-extfile', extensions, '-out', certFile]);
  return await read(certFile, keyFile);
}

interface Names {
  readonly name: string;
  readonly alternative: string;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

async function read(certFile: string, keyFile: string): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key, certFile, keyFile };
}
