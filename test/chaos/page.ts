export const renderChaosPage = (..._: unknown[]) => 'soon';
