// An operator for Takaras as the tutorial of kubebuilder writes one, to be measured beside takara-sync.
//
// It reads from the caches that its watches fill, creates the Deployment of a Takara, repairs its replicas, and writes
// the names of the pods and a condition into the status.
// https://book.kubebuilder.io/getting-started
package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
	scheme *runtime.Scheme
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	takara := &Takara{}
	if err := r.Get(ctx, request.NamespacedName, takara); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := &appsv1.Deployment{}
	err := r.Get(ctx, request.NamespacedName, deployment)
	switch {
	case apierrors.IsNotFound(err):
		if deployment, err = r.deploymentFor(takara); err == nil {
			err = r.Create(ctx, deployment)
		}
	case err == nil && *deployment.Spec.Replicas != takara.Spec.Size:
		deployment.Spec.Replicas = &takara.Spec.Size
		err = r.Update(ctx, deployment)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.writeStatus(ctx, takara, deployment)
}

func (r *reconciler) writeStatus(ctx context.Context, takara *Takara, deployment *appsv1.Deployment) error {
	pods := &corev1.PodList{}
	labels := client.MatchingLabels(labelsFor(takara.Name))
	if err := r.List(ctx, pods, client.InNamespace(takara.Namespace), labels); err != nil {
		return err
	}
	before := takara.Status.DeepCopy()
	takara.Status.ObservedGeneration = takara.Generation
	takara.Status.Nodes = names(pods)
	takara.Status.Replicas = deployment.Status.Replicas
	takara.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	meta.SetStatusCondition(&takara.Status.Conditions, readyCondition(takara, deployment))
	if equality.Semantic.DeepEqual(before, &takara.Status) {
		return nil
	}
	return r.Status().Update(ctx, takara)
}

func readyCondition(takara *Takara, deployment *appsv1.Deployment) metav1.Condition {
	condition := metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionFalse,
		Reason:             "Progressing",
		Message:            "The Deployment is not available yet.",
		ObservedGeneration: takara.Generation,
	}
	if deployment.Status.AvailableReplicas == takara.Spec.Size {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Ready"
		condition.Message = fmt.Sprintf("All %d replicas are available.", takara.Spec.Size)
	}
	return condition
}

func (r *reconciler) deploymentFor(takara *Takara) (*appsv1.Deployment, error) {
	labels := labelsFor(takara.Name)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: takara.Name, Namespace: takara.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &takara.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "takara", Image: "busybox", Command: []string{"sleep", "3600"},
				}}},
			},
		},
	}
	return deployment, ctrl.SetControllerReference(takara, deployment, r.scheme)
}

func labelsFor(name string) map[string]string {
	return map[string]string{"app": "takara", "takara_cr": name}
}

func names(pods *corev1.PodList) []string {
	found := make([]string, 0, len(pods.Items))
	for _, pod := range pods.Items {
		found = append(found, pod.Name)
	}
	slices.Sort(found)
	return found
}

func main() {
	workers := flag.Int("workers", 0, "MaxConcurrentReconciles; 0: the default of controller-runtime, which is 1")
	flag.Parse() // controller-runtime adds --kubeconfig
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	addToScheme(scheme)
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"}, // no port: two benchmarks may run on one machine
	})
	utilruntime.Must(err)
	utilruntime.Must(ctrl.NewControllerManagedBy(manager).
		For(&Takara{}).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers}).
		Complete(&reconciler{manager.GetClient(), scheme}))
	utilruntime.Must(manager.Start(ctrl.SetupSignalHandler()))
}
