import { describe, expect, it } from 'vitest';
import { runArguments } from './container-node.js';
import { chooseSource, type Probes, WHAT_TO_INSTALL } from './distribution.js';

interface Machine {
  readonly java: boolean;
  readonly maven: boolean;
  readonly engine: string | null;
  readonly mayInstall: boolean;
}

function probes(machine: Machine, asked: string[] = []): Probes {
  let installed = false;
  return {
    hasJava: async () => machine.java || installed,
    hasMaven: async () => machine.maven || installed,
    isCached: async () => false,
    containerEngine: async () => {
      asked.push('engine');
      return machine.engine;
    },
    mayInstall: () => machine.mayInstall,
    install: async () => {
      asked.push('install');
      installed = true;
    },
  };
}

describe('where the broker comes from', () => {
  const nothing: Machine = { java: false, maven: false, engine: null, mayInstall: false };

  it('is Java and Maven where both are there; nothing else is asked then', async () => {
    const asked: string[] = [];
    expect(await chooseSource(probes({ ...nothing, java: true, maven: true, engine: 'docker' }, asked))).toBe('java');
    expect(asked).toEqual([]);
  });

  it('is Java alone once the jars are cached', async () => {
    const cached = { ...probes({ ...nothing, java: true }), isCached: async () => true };
    expect(await chooseSource(cached)).toBe('java');
  });

  it('is a container engine that answers, before anything is installed', async () => {
    const machine = { ...nothing, java: true, engine: 'podman', mayInstall: true };
    expect(await chooseSource(probes(machine))).toBe('podman');
  });

  it('is installed where that is allowed', async () => {
    const asked: string[] = [];
    expect(await chooseSource(probes({ ...nothing, mayInstall: true }, asked))).toBe('java');
    expect(asked).toEqual(['engine', 'install']);
  });

  it('is one line that says what to install, elsewhere', async () => {
    await expect(chooseSource(probes(nothing))).rejects.toThrow(WHAT_TO_INSTALL);
    expect(WHAT_TO_INSTALL).not.toContain('\n');
  });
});

// No container engine is at hand where this was written: the command is checked, not run.
it('a container gets every property as the variable of the image', () => {
  const properties = {
    'node.id': '1',
    'listener.name.secure.scram-sha-256.sasl.jaas.config': 'x y',
    'log.dirs': '/here',
  };
  const args = runArguments('name', {
    properties,
    folder: '/f',
    clusterId: 'id',
    formatArguments: [],
    javaAgents: [],
    environment: {},
  });
  expect(args).toEqual([
    'run',
    '-d',
    '--name',
    'name',
    '--network',
    'host',
    '-e',
    'CLUSTER_ID=id',
    '-e',
    'KAFKA_NODE_ID=1',
    '-e',
    'KAFKA_LISTENER_NAME_SECURE_SCRAM___SHA___256_SASL_JAAS_CONFIG=x y',
    '-e',
    'KAFKA_LOG_DIRS=/tmp/quotamesh-log',
    'apache/kafka:4.3.0',
  ]);
});
