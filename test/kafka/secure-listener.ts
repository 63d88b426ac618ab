import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import type { NodePorts } from './broker-properties.js';

const run = promisify(execFile);
const OPENSSL_TIMEOUT_MS = 60_000;
export const PASSWORD = 'correct horse';

/** User names by how they authenticate; permissions are given by ACLs, and to nobody at first. */
export const USERS = { plain: 'alice', 'scram-sha-256': 'bob', 'scram-sha-512': 'carol' } as const;

/**
 * A second listener (TLS, SASL, ACLs) on the node's spare port. The plain listener stays for the test's own admin
 * client, whose user is the super user.
 */
export function secureProperties(keyStore: string): (ports: NodePorts) => Readonly<Record<string, string>> {
  return ({ client, controller, spare }) => ({
    listeners: `PLAINTEXT://127.0.0.1:${client},SECURE://127.0.0.1:${spare},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${client},SECURE://127.0.0.1:${spare}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStore,
    'listener.name.secure.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'listener.name.secure.plain.sasl.jaas.config': login('plain.PlainLoginModule', `user_${USERS.plain}="${PASSWORD}"`),
    'listener.name.secure.scram-sha-256.sasl.jaas.config': login('scram.ScramLoginModule', ''),
    'listener.name.secure.scram-sha-512.sasl.jaas.config': login('scram.ScramLoginModule', ''),
    'listener.name.secure.oauthbearer.sasl.jaas.config': login('oauthbearer.OAuthBearerLoginModule', ''),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  });
}

/** For `StorageTool format`: SCRAM users are part of the metadata. */
export const SCRAM_USERS = [
  '--add-scram',
  `SCRAM-SHA-256=[name=${USERS['scram-sha-256']},password=${PASSWORD}]`,
  '--add-scram',
  `SCRAM-SHA-512=[name=${USERS['scram-sha-512']},password=${PASSWORD}]`,
];

/** A key and a self-signed certificate for 127.0.0.1; returns the file. */
export async function makeKeyStore(folder: string): Promise<string> {
  const [key, certificate, keyStore] = ['key', 'certificate', 'broker'].map((name) => join(folder, `${name}.pem`));
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=quotamesh-test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await run('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', certificate], {
    timeout: OPENSSL_TIMEOUT_MS,
  });
  const parts = await Promise.all([key, certificate].map((file) => readFile(file, 'utf8')));
  await writeFile(keyStore, parts.join(''));
  return keyStore;
}

/** What the broker shows, as PEM: its own authority, since it is self-signed. */
export function certificateOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const base64 = socket.getPeerCertificate().raw.toString('base64');
      resolve(`-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** A token that Kafka's default validator for tests takes: unsigned, with a subject and an end. */
export function unsecuredToken(subject: string, lifeS = 600): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: now + Math.min(0, 2 * lifeS), exp: now + lifeS })}.`;
}

function login(module: string, options: string): string {
  return `org.apache.kafka.common.security.${module} required ${options};`;
}
