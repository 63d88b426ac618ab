{{- define "quotamesh.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "quotamesh.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quotamesh.labels" -}}
{{ include "quotamesh.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The Secret with tokens; empty where nobody needs one. A chart that let nobody in would start no node. */}}
{{- define "quotamesh.tokens" -}}
{{- if .Values.auth.insecure }}
{{- else if .Values.auth.existingSecret }}{{ .Values.auth.existingSecret }}
{{- else if .Values.auth.tokens }}{{ include "quotamesh.name" . }}-tokens
{{- else }}{{ fail "Who may ask? Set auth.tokens (quotamesh token new), auth.existingSecret, or auth.insecure=true." }}
{{- end }}
{{- end }}
