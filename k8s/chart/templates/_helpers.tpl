{{/*
What comes before the name of each object: nothing for the release takara-sync, prod- for the releases prod and
prod-takara-sync, as with `takara-sync manifests --name-prefix prod-`.
*/}}
{{- define "takara-sync.prefix" -}}
{{- if .Values.namePrefix -}}
{{ .Values.namePrefix }}
{{- else if ne .Release.Name "takara-sync" -}}
{{ .Release.Name | trimSuffix "takara-sync" | trimSuffix "-" }}-
{{- end -}}
{{- end -}}
